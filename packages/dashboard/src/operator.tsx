// The operators' page.
import { RouterProvider } from "@tanstack/react-router";
import { operatorRouter } from "./app/operator-router.tsx";
import { start } from "./app/start.tsx";
import { SignIn } from "./pages/sign-in.tsx";

// while the server is asked who this is
void operatorRouter.load();
start({
  whenSignedIn: () => <RouterProvider router={operatorRouter} />,
  whenNot: () => <SignIn />,
});
