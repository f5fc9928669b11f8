// The operators' page.
import { RouterProvider } from "@tanstack/react-router";
import { operatorRouter } from "./app/operator-router.tsx";
import { start } from "./app/start.tsx";
import { SignIn } from "./pages/sign-in.tsx";

start({
  whenSignedIn: () => <RouterProvider router={operatorRouter} />,
  whenNot: () => <SignIn />,
});
