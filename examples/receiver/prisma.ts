// Prisma: `tx` is what an interactive prisma.$transaction gives.
import { createReceiver, posthorn } from "@posthorn/receiver";
import { postgresStore, prismaDatabase } from "@posthorn/receiver/postgres";
import type { Prisma, PrismaClient } from "./generated-prisma.ts"; // yours: @prisma/client, or where `prisma generate` writes to

export function paymentsReceiver(prisma: PrismaClient) {
  const receiver = createReceiver({
    sources: [posthorn({ secrets: [process.env.WEBHOOK_SECRET] })],
    store: postgresStore(prismaDatabase(prisma, { timeout: 15_000 })),
  });
  return receiver.on("order.paid", async (event, { tx }) => {
    await tx.payment.create({ data: { event: event.id, data: event.data as Prisma.InputJsonValue } });
  });
}
