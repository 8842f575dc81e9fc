import type { Calls } from './calls.ts'
import { idOf } from './calls.ts'
import { formWith } from './scene.ts'
import type { Somebody } from './spaces-and-people.ts'

/** Uploads a preview, thumbnail or tile (`/api/previews` …) that is not attached to a resource yet. */
export const send = async (
  { call }: Pick<Somebody, 'call'>,
  path: string,
  { bytes = 'a picture', name = 'p.png', type = 'image/png', title = '' } = {},
): Promise<string> => {
  const body = formWith(bytes, name, type)
  if (title !== '') body.append('title', title)
  const answer = await call(path, { method: 'POST', body })
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
  return ((await answer.json()) as { id: string }).id
}

/** A preview of a file. */
export const previewOf = async (who: Somebody, file: string): Promise<string> => {
  const preview = await send(who, '/api/previews')
  const { status, body } = await who.post(`/api/files/${file}/previews/${preview}`, {})
  if (status !== 200) throw new Error(JSON.stringify(body))
  return preview
}

/** A thumbnail of a file, or of a section (`/api/sections/…`). */
export const thumbnailOf = async (who: Somebody, path: string): Promise<string> => {
  const thumbnail = await send(who, '/api/fileThumbnail')
  const { status, body } = await who.post(`${path}/thumbnails/${thumbnail}`, {})
  if (status !== 200) throw new Error(JSON.stringify(body))
  return thumbnail
}

export const sectionOf = (who: Calls, file: string, more: object = {}): Promise<string> =>
  idOf(who.post('/api/sections', { file_id: file, ...more }))

/** Adds a comment, or a reply to a comment (`/api/comment/…`); resolves to its id. */
export const say = async (who: Calls, path: string, text: string): Promise<string> => {
  const { status, body } = await who.post(path, { text })
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  return String(body)
}

/** The number of paths whose response is 200. */
export const answering = async (who: Calls, paths: readonly string[]): Promise<number> =>
  (await Promise.all(paths.map(path => who.get(path)))).filter(({ status }) => status === 200).length
