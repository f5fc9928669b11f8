// AWS Lambda: API Gateway (REST or HTTP), a function URL, or a load balancer.
import { lambdaHandler } from "@posthorn/receiver/lambda";
import { receiver } from "./receiver.ts";

export const handler = lambdaHandler(receiver);
