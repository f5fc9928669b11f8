// A time limit for a promise.
/** Rejects with the error of `onTimeout` if the work takes longer. The work goes on: nothing can stop a promise. */
export function withTimeout<Result>(
  work: () => Promise<Result>,
  timeoutMs: number,
  onTimeout: () => Error,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(onTimeout()), timeoutMs);
    work().then(
      (result) => {
        clearTimeout(timer);
        resolve(result);
      },
      (error) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
