import { UsageError } from '../built-in.ts'
import type { Output } from '../output.ts'
import { type ChosenServer, chosenServer } from './credentials.ts'
import { detectServer, usualRetries } from './detection.ts'
import { ServerClient } from './server-client.ts'

/** The context of a user command. */
export interface UserContext {
  readonly arguments: readonly unknown[]
  readonly options: Readonly<Record<string, string | boolean | readonly string[] | undefined>>
  readonly asJson: boolean
  readonly output: Output
  readonly progress: { report(message: string): void; end(): void }
  /** Sets the exit code to 1. */
  fail(): void
}

/** Runs a command and returns the result to print. */
export type RunUserCommand = (context: UserContext) => Promise<unknown>

/** The value of an option; undefined if absent. */
export const textOption = ({ options }: UserContext, name: string): string | undefined => {
  const value = options[name]
  return typeof value === 'string' ? value : undefined
}

/** The numeric value of an option, or its default. */
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

/** A client for the server of a command line; `page` is a URL among its arguments. */
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

/** Throws if the key is not valid. */
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
  // A public server treats many requests with an invalid key as anonymous.
  const account = await accountOf(client)
  return { client, server: { ...server, url }, account }
}
