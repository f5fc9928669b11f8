// One suite, every framework.
import { adapterSuite } from "../../../../tests/support/receiver/adapter-suite.ts";
import { frameworks } from "../../../../tests/support/receiver/frameworks.ts";

for (const framework of frameworks) adapterSuite(framework);
