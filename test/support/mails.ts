import type { MemoryMailer, TestServer } from 'pounce/sdk/testing'

type Mail = MemoryMailer['sent'][number]

/** Waits until no events are pending; resolves to the mails to one address, oldest first. */
export const mailsTo = async (server: TestServer, mailer: MemoryMailer, address: string): Promise<readonly Mail[]> => {
  await server.drained()
  return mailer.sent.filter(({ to }) => to.includes(address))
}

const linked = ({ text }: Mail): string | undefined => /\?token=([\w-]+)$/m.exec(text)?.[1]

/** The token in the link of a mail; throws if there is none. */
export const tokenIn = (mail: Mail): string => {
  const token = linked(mail)
  if (token === undefined) throw new Error(`No link in the mail ${mail.subject}:\n${mail.text}`)
  return token
}

/** The token in the last mail with a link to an address. Mails without one may follow it, when retried after a fault. */
export const lastToken = async (server: TestServer, mailer: MemoryMailer, address: string): Promise<string> => {
  const mails = await mailsTo(server, mailer, address)
  const mail = mails.findLast(each => linked(each) !== undefined) ?? mails.at(-1)
  if (!mail) throw new Error(`No mail was sent to ${address}`)
  return tokenIn(mail)
}
