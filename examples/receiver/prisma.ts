// Prisma: `tx` is the client of an interactive prisma.$transaction().
import { createReceiver, posthorn } from "@posthorn/receiver";
import { postgresStore, prismaDatabase } from "@posthorn/receiver/postgres";
import type { Prisma, PrismaClient } from "./generated-prisma.ts"; // in your project: @prisma/client, or the output path of `prisma generate`

export function paymentsReceiver(prisma: PrismaClient) {
  const receiver = createReceiver({
    sources: [posthorn({ secrets: [process.env.WEBHOOK_SECRET] })],
    store: postgresStore(prismaDatabase(prisma, { timeout: 15_000 })),
  });
  return receiver.on("order.paid", async (event, { tx }) => {
    await tx.payment.create({ data: { event: event.id, data: event.data as Prisma.InputJsonValue } });
  });
}
