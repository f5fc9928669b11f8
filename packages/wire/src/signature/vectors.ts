// Test vectors published by vendors and specifications.

export interface SignatureVector {
  readonly source: string;
  readonly scheme: string;
  readonly secret: string;
  /** The receiver's key, if it differs from the secret. */
  readonly publicKey?: string;
  readonly id: string;
  readonly timestamp: string;
  readonly body: string;
  /** The signature header's value. */
  readonly signature: string;
}

const FIRST = {
  id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
  timestamp: "1614265330",
  body: '{"test": 2432232314}',
};

export const signatureVectors: readonly SignatureVector[] = [
  {
    source: "Standard Webhooks: the JavaScript, Python, Go, PHP, C#, Java, Ruby and Elixir suites",
    scheme: "standard-webhooks",
    secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    ...FIRST,
    signature: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  },
  {
    source: "Standard Webhooks: the Rust suite",
    scheme: "standard-webhooks",
    secret: "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD",
    id: "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk",
    timestamp: "1649367553",
    body: '{"email":"test@example.com","username":"test_user"}',
    signature: "v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw=",
  },
  {
    source: "Svix server: the worker's ed25519 test",
    scheme: "standard-webhooks-v1a",
    secret: "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==",
    publicKey: "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=",
    ...FIRST,
    signature: "v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg==",
  },
  {
    source: "GitHub: the documentation's example",
    scheme: "sha256",
    secret: "It's a Secret to Everybody",
    id: "",
    timestamp: "",
    body: "Hello, World!",
    signature: "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
  },
  {
    source: "RFC 4231 §4.3",
    scheme: "sha512",
    secret: "Jefe",
    id: "",
    timestamp: "",
    body: "what do ya want for nothing?",
    signature:
      "sha512=164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737",
  },
  {
    source: "RFC 4231 §4.3, with a label",
    scheme: "sha256:sha256_v2",
    secret: "Jefe",
    id: "",
    timestamp: "",
    body: "what do ya want for nothing?",
    signature: "sha256_v2=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
  },
];
