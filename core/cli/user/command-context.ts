import { UsageError } from '../built-in.ts'
import type { Output } from '../output.ts'
import { type ChosenServer, chosenServer } from './credentials.ts'
import { detectServer, usualRetries } from './detection.ts'
import { ServerClient } from './server-client.ts'

/** What a command for users works with. */
export interface UserContext {
  readonly arguments: readonly unknown[]
  readonly options: Readonly<Record<string, string | boolean | readonly string[] | undefined>>
  readonly asJson: boolean
  readonly output: Output
  readonly progress: { report(message: string): void; end(): void }
  /** Makes the exit code 1. */
  fail(): void
}

/** Runs a command; what it returns is printed. */
export type RunUserCommand = (context: UserContext) => Promise<unknown>

/** The text of an option; undefined when it is absent. */
export const textOption = ({ options }: UserContext, name: string): string | undefined => {
  const value = options[name]
  return typeof value === 'string' ? value : undefined
}

/** The number in an option, or what it is otherwise. */
export const numberOption = (
  context: UserContext,
  name: string,
  { usual, min, max }: { readonly usual: number; readonly min: number; readonly max: number },
): number => {
  const text = textOption(context, name)
  if (text === undefined) return usual
  const value = Number(text)
  if (!/^\d{1,9}$/.test(text) || value < min || value > max)
    throw new UsageError(`--${name} must be a number from ${min} to ${max} (is ${text})`)
  return value
}

/** A client of the server that a command line names; `page` is an address among its arguments. */
export const clientOf = async (context: UserContext, page?: string): Promise<ServerClient> => {
  const retries = numberOption(context, 'retries', { usual: usualRetries, min: 0, max: 100 })
  const { client } = await signedInClient(context, page, retries)
  return client
}

/** The account that a key belongs to. */
export interface KeyOwner {
  readonly id: string
  readonly email: string
  readonly fullName?: string
}

/** Throws when the key is not valid. */
export const accountOf = (client: ServerClient): Promise<KeyOwner> => client.json<KeyOwner>('GET', '/api/me')

export const signedInClient = async (
  context: UserContext,
  page?: string,
  retries: number = usualRetries,
): Promise<{ readonly client: ServerClient; readonly server: ChosenServer; readonly account: KeyOwner }> => {
  const server = await chosenServer({ option: textOption(context, 'server'), page })
  const { url, kind } = server.kind === undefined ? await detectServer(server.url) : { url: server.url, kind: server.kind }
  const onWait = (message: string): void => context.progress.report(message)
  const client = new ServerClient({ url, kind, key: server.key }, retries, onWait)
  // A public server answers many requests as if a wrong key were none.
  const account = await accountOf(client)
  return { client, server: { ...server, url }, account }
}
