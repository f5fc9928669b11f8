// Entry point of the operator dashboard.
import { RouterProvider } from "@tanstack/react-router";
import { createOperatorRouter } from "./app/operator-router.tsx";
import { start } from "./app/start.tsx";
import { SignIn } from "./pages/sign-in.tsx";

const router = createOperatorRouter();
// loads the first page's code while the session is requested
void router.load();
start({
  whenSignedIn: () => <RouterProvider router={router} />,
  whenSignedOut: () => <SignIn />,
});
