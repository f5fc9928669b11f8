// The four formats of a signature header. Parsing is strict about what it expects and ignores what it does not know, so that a
// sender may add a version. A comma and a space separate the values of a repeated header in `Headers`; such a header is
// rejected.

export interface SignatureFormat {
  /**
   * False if receivers compare the whole value with the one signature they expect (as GitHub's do), so that a list would break them.
   * Then the secret that expires first signs: during a rotation every receiver has it, whereas the newest would be rejected
   * until the receiver is updated. The signatures of newer secrets go into `headers.signatureNext`.
   */
  readonly holdsMany: boolean;
  readonly write: (signatures: readonly string[], timestamp: string) => string;
  /** Encoded signatures, not yet decoded; null if the value does not have this format. */
  readonly read: (value: string) => SignaturesRead | null;
}

export interface SignaturesRead {
  readonly signatures: readonly string[];
  /** Null if it is in its own header, or absent. */
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

/** `v1,<signature> v1,<signature>`: single spaces, because Python's library fails on an empty item. */
export function versionedList(version: string): SignatureFormat {
  return {
    holdsMany: true,
    write(signatures) {
      let value = "";
      for (const signature of signatures) value += `${value === "" ? "" : " "}${version},${signature}`;
      return value;
    },
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

/** `sha256=<signature>`, or the bare signature if the label is empty. */
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

/** The secret itself; only a repeated header is rejected. */
export const verbatim: SignatureFormat = {
  holdsMany: false,
  write: (signatures) => signatures.join(", "),
  read: (value) => (value.includes(", ") ? null : { signatures: [value], timestamp: null }),
};

function splitOnce(text: string, separator: string): [string, string | null] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, null] : [text.slice(0, at), text.slice(at + separator.length)];
}
