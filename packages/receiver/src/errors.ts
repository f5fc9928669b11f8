// What can be thrown, by the kit and by handlers.

/** Something read or parsed the body before the receiver saw it. Answered with 500, so that the sender tries again. */
export class BodyNotRaw extends Error {
  override readonly name = "BodyNotRaw";

  constructor(reason: string, fix: string) {
    super(`The bytes that were signed are gone, so the request cannot be verified: ${reason}. ${fix}`);
  }
}
