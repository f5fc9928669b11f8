// The receiver on the memory store, in each of its modes.
import { openMemoryWorld } from "../../../tests/support/receiver/memory-world.ts";
import { receiverSuite } from "../../../tests/support/receiver/receiver-suite.ts";

receiverSuite("memory", openMemoryWorld, ["lease", "inbox"]);
