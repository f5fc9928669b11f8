// Entry point of the operator dashboard.
import { RouterProvider } from "@tanstack/react-router";
import { operatorRouter } from "./app/operator-router.tsx";
import { start } from "./app/start.tsx";
import { SignIn } from "./pages/sign-in.tsx";

// loads the first page's code while the session is requested
void operatorRouter.load();
start({
  whenSignedIn: () => <RouterProvider router={operatorRouter} />,
  whenSignedOut: () => <SignIn />,
});
