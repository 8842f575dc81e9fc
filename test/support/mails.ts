import type { MemoryMailer, TestServer } from 'pounce/sdk/testing'

type Mail = MemoryMailer['sent'][number]

/** What was sent to one address once no event waits any more, oldest first. */
export const mailsTo = async (server: TestServer, mailer: MemoryMailer, address: string): Promise<readonly Mail[]> => {
  await server.drained()
  return mailer.sent.filter(({ to }) => to.includes(address))
}

/** The token in the link of a mail; throws when there is none. */
export const tokenIn = ({ subject, text }: Mail): string => {
  const token = /\?token=([\w-]+)$/m.exec(text)?.[1]
  if (token === undefined) throw new Error(`${subject} has no link:\n${text}`)
  return token
}

/** The token in the last mail to an address. */
export const lastToken = async (server: TestServer, mailer: MemoryMailer, address: string): Promise<string> => {
  const mail = (await mailsTo(server, mailer, address)).at(-1)
  if (!mail) throw new Error(`Nothing was sent to ${address}`)
  return tokenIn(mail)
}
