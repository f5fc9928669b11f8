// The four shapes in which senders write signatures into a header. Reading is strict about what it looks for and
// passes over what it does not know, so that a sender may add a version. A comma and a space is what `Headers` puts
// between the values of a header that is there twice, which is refused.

export interface SignatureFormat {
  /**
   * False when receivers compare the whole value with the one signature they expect (GitHub's way), so that a list
   * would break them. Then the secret that retires soonest signs here: it is the one the receiver is sure to have
   * during a rotation, and with the newest first each delivery would be refused until the receiver is changed. The
   * signatures of the newer secrets go into `headers.signatureNext`, for receivers that look there.
   */
  readonly holdsMany: boolean;
  readonly write: (signatures: readonly string[], timestamp: string) => string;
  /** Encoded signatures as found, not yet decoded; null when the value does not have this shape. */
  readonly read: (value: string) => SignaturesRead | null;
}

export interface SignaturesRead {
  readonly signatures: readonly string[];
  /** Null when it stands in a header of its own, or nowhere. */
  readonly timestamp: string | null;
}

/** `t=1614265330,v1=<signature>,v1=<signature>`: no spaces, which Stripe's SDK would not trim. */
export function fields(names: { timestamp: string; signature: string; separator: string }): SignatureFormat {
  const { timestamp: timeName, signature: signatureName, separator } = names;
  return {
    holdsMany: true,
    write(signatures, timestamp) {
      let value = `${timeName}=${timestamp}`;
      for (const signature of signatures) value += `${separator}${signatureName}=${signature}`;
      return value;
    },
    read(value) {
      if (value.includes(" ")) return null;
      const signatures: string[] = [];
      let timestamp: string | null = null;
      for (const item of value.split(separator)) {
        const [name, text] = splitOnce(item, "=");
        if (text === null) return null;
        if (name === signatureName) signatures.push(text);
        if (name !== timeName) continue;
        if (timestamp !== null) return null;
        timestamp = text;
      }
      return timestamp === null || signatures.length === 0 ? null : { signatures, timestamp };
    },
  };
}

/** `v1,<signature> v1,<signature>`: single spaces, since Python's library fails on an empty item. */
export function versionedList(version: string): SignatureFormat {
  return {
    holdsMany: true,
    write: (signatures) => signatures.map((signature) => `${version},${signature}`).join(" "),
    read(value) {
      if (value.includes(", ")) return null;
      const signatures: string[] = [];
      for (const item of value.split(" ")) {
        const [name, text] = splitOnce(item, ",");
        if (text === null) return null;
        if (name === version) signatures.push(text);
      }
      return { signatures, timestamp: null };
    },
  };
}

/** `sha256=<signature>`, or the bare signature when the label is empty. */
export function single(label: string): SignatureFormat {
  return {
    holdsMany: false,
    write: (signatures) => signatures.map((signature) => label + signature).join(","),
    read(value) {
      if (value.includes(" ")) return null;
      const items = value.split(",");
      if (!items.every((item) => item.startsWith(label))) return null;
      return { signatures: items.map((item) => item.slice(label.length)), timestamp: null };
    },
  };
}

/** A secret as it is: what it holds is nobody's business but for the sign of a header that is there twice. */
export const verbatim: SignatureFormat = {
  holdsMany: false,
  write: (signatures) => signatures.join(", "),
  read: (value) => (value.includes(", ") ? null : { signatures: [value], timestamp: null }),
};

function splitOnce(text: string, separator: string): [string, string | null] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, null] : [text.slice(0, at), text.slice(at + separator.length)];
}
