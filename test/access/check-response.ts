import type { Expected } from './cells.ts'
import type { Got } from './http-client.ts'
import type { Letter } from './oracle/letters.ts'
import type { RequestContent } from './request-content.ts'

/** Statuses about the content of a request, when all permissions are held. */
const aboutContent: ReadonlySet<number> = new Set([400, 409, 410, 412, 413, 415, 416, 422, 423, 507])

const statuses: Readonly<Record<Letter, (got: Got) => boolean>> = {
  y: isDone,
  b: () => true,
  n: ({ status, text }) => status === 403 && !text.includes('terms-not-accepted'),
  u: ({ status }) => status === 404,
  a: ({ status }) => status === 401,
  v: ({ status }) => status === 401 || status === 404,
  t: ({ status, text }) => status === 403 && text.includes('terms-not-accepted'),
  f: ({ status }) => status === 409,
  x: ({ status }) => status >= 400 && status < 500,
}

function isDone({ status }: Got): boolean {
  return status >= 200 && status < 400
}

export const isSuccess = isDone

/** What is wrong with a response; undefined if it matches the oracle. */
export const faultOf = (
  expected: Expected,
  got: Got,
  { answers = [], neverHere }: RequestContent,
  isMixed: boolean,
): string | undefined => {
  const { letter, because, isQuiet, isInTrash } = expected
  const { status, text } = got
  const summary = `${status} ${text.slice(0, 160)}`
  if (status >= 500 && !(status === 503 && neverHere !== undefined)) return `answered ${summary}`
  if (letter === 'refused') {
    if (isQuiet && isDone(got)) return undefined
    // Resources that do not belong together may be detected before permissions are checked.
    if (isMixed && status === 404 && because.some(each => each === 'n' || each === 'f')) return undefined
    return because.some(each => statuses[each](got)) ? undefined : `refused with ${because.join('')} expected, got ${summary}`
  }
  const isAboutContent = aboutContent.has(status) && !(isInTrash && status === 409)
  if (letter === 'b' || isDone(got) || isAboutContent || answers.includes(status)) return undefined
  const isAboutOther = status === 404 && (isMixed || neverHere !== undefined || !text.includes('"not-found"'))
  const isOff = neverHere !== undefined && (status === 503 || status === 403)
  return isAboutOther || isOff ? undefined : `allowed, got ${summary}`
}

/** A response without the parts that vary between requests. */
export const sameAnswer = ({ status, text }: Got): string =>
  `${status} ${text.replace(/"requestId":"[^"]*"/, '').replace(/\b(?:[0-9a-f]{24}|nonsense)\b/g, '·')}`
