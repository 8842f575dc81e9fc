import { ok } from './scene.ts'
import type { Somebody } from './spaces-and-people.ts'

/** A notification as the inbox lists it. */
export interface Notification {
  readonly id: string
  readonly kind: string
  readonly title: string
  readonly text?: string
  readonly url: string
  readonly actor?: string
  readonly about?: { readonly kind: string; readonly id: string }
  readonly read: boolean
}

/** Changes preferences by kind of notification. */
export const prefer = (who: Somebody, json: Record<string, string>) =>
  ok<Record<string, string>>(who.call('/api/me/notifications/preferences', { method: 'PUT', json }))

/** Adds a comment to a dataset, or a reply to a comment of it; resolves to its id. */
export const comment = async (who: Somebody, dataset: string, text: string, parent?: string): Promise<string> => {
  const path = parent === undefined ? `/api/datasets/${dataset}/comment` : `/api/comment/${parent}`
  const answer = await who.call(path, { method: 'POST', json: { text } })
  const body = await answer.text()
  if (!answer.ok) throw new Error(`${answer.status} ${body}`)
  return body.replaceAll('"', '')
}
