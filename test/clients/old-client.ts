import { callsOf } from '../support/calls.ts'
import { type UntypedPart, untypedForm } from './untyped-parts.ts'

/** Sent by `requests.get(url, auth=(None, None))`, and by scripts with empty settings. */
const noneAndNone = `Basic ${btoa('None:None')}`

/**
 * A client like scripts for Clowder 1.x: the key in each URL, an empty Basic header, and parts without media types.
 * It has the interface of a `TestFetch`, so that other helpers can use it.
 */
export const oldClient = (url: string, key: string) => {
  const call = (path: string, { json, headers, ...init }: RequestInit & { readonly json?: unknown } = {}): Promise<Response> => {
    const address = new URL(path, url)
    address.searchParams.set('key', key)
    return fetch(address, {
      ...init,
      headers: {
        'user-agent': 'python-requests/2.9.1',
        authorization: noneAndNone,
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...(headers as Readonly<Record<string, string>> | undefined),
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    })
  }
  return {
    call,
    ...callsOf(call),
    /** Sends a file as `files={"File": fh}` does. */
    send: async (path: string, part: UntypedPart, fields: Readonly<Record<string, string>> = {}): Promise<string> => {
      const answer = await call(path, { method: 'POST', ...untypedForm([part], fields) })
      const text = await answer.text()
      if (!answer.ok) throw new Error(`${answer.status} ${path}: ${text}`)
      return (JSON.parse(text) as { id: string }).id
    },
  }
}

export type OldClient = ReturnType<typeof oldClient>
