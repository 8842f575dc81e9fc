import { s } from 'pounce/sdk'

const saying = (status: string) => s.Unsafe<{ readonly status: string }>(s.Object({ status: s.Literal(status) }))

/** What deleting answers. */
export const ok = { 200: saying('ok') }
/** What bringing statistics up to date answers. */
export const updated = { 200: saying('updated') }
