// Stands for the module that the dashboard's build generates from the contract.
export { contract as operations } from "@posthorn/client";
