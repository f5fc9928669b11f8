// The sign-in page of the operator dashboard.
import { useState } from "react";
import { isStatus } from "../api/client.ts";
import { useSignIn } from "../api/session.ts";
import { defineTexts } from "../app/texts.ts";
import { Button } from "../components/ui/button.tsx";
import { submitted, TextField } from "../components/ui/field.tsx";
import { Mark } from "../components/ui/logo.tsx";
import { Title } from "../components/ui/title.tsx";
import { showError, Toasts } from "../components/ui/toasts.tsx";

const t = defineTexts({
  title: ["Sign in to Posthorn", "Bei Posthorn anmelden"],
  key: ["API key", "API-Schlüssel"],
  hint: [
    "An API key (phk_…) or the admin key, which the server prints at its first start.",
    "Ein API-Schlüssel (phk_…) oder der Admin-Schlüssel, den der Server beim ersten Start ausgibt.",
  ],
  refused: [
    "This key is not valid. It may have been revoked or have expired.",
    "Dieser Schlüssel ist ungültig. Möglicherweise wurde er widerrufen oder ist abgelaufen.",
  ],
  signIn: ["Sign in", "Anmelden"],
});

export function SignIn() {
  const signIn = useSignIn();
  const [key, setKey] = useState("");
  const [isRefused, setRefused] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const submit = async () => {
    setBusy(true);
    try {
      await signIn(key.trim());
    } catch (error) {
      if (isStatus(error, 401)) setRefused(true);
      else showError(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <main className="grid min-h-screen place-items-center p-4">
      <form
        onSubmit={submitted(submit)}
        className="flex w-full max-w-sm flex-col gap-4 rounded-lg border border-line bg-surface p-6"
      >
        <Mark className="size-8" />
        <Title>{t.title}</Title>
        <TextField
          label={t.key}
          hint={t.hint}
          problem={isRefused ? t.refused : undefined}
          type="password"
          autoComplete="current-password"
          required
          value={key}
          onChange={(event) => {
            setKey(event.target.value);
            setRefused(false);
          }}
        />
        <Button kind="primary" type="submit" isBusy={isBusy}>
          {t.signIn}
        </Button>
      </form>
      <Toasts />
    </main>
  );
}
