/** Longer addresses name no one. */
const maxLength = 2000
/** Percent signs may be encoded themselves. */
const maxDecodings = 3

/** Accounts that an address may mean, in whatever spelling. */
export interface NamedAccounts {
  /** Ids in it, at any place: hosts, paths, queries and fragments have too many spellings to decide which of them lead to an account. */
  readonly ids: readonly string[]
  /** An e-mail address, of `…/users/email/ann@example.org`. */
  readonly email: string | undefined
}

/**
 * What to look up before an address is taken for that of a stranger. Addresses of people are never compared as text:
 * `/api/x/../users/ID`, `/api//users/%35…` and `/API/USERS/ID/` are all the same account.
 */
export const accountsNamedBy = (address: string): NamedAccounts => {
  const plain = address.length > maxLength ? '' : plainAddress(address)
  const ids = plain.match(/[0-9a-f]{24,}/g)?.filter(each => each.length === 24) ?? []
  const parts = plain.split(/[/?#]+/)
  const email = parts[parts.indexOf('email') + 1]
  return { ids: [...new Set(ids)], email: parts.includes('users') && email?.includes('@') ? email : undefined }
}

/** As the URL parser writes it, decoded, in one form of Unicode and lower case. */
const plainAddress = (address: string): string => {
  let text = URL.parse(address)?.href ?? address
  for (let times = 0; times < maxDecodings; times++) text = decoded(text)
  return text.normalize('NFKC').toLowerCase().replaceAll('\\', '/')
}

const decoded = (text: string): string =>
  text.replace(/(?:%[0-9a-f]{2})+/gi, found => Buffer.from(found.replaceAll('%', ''), 'hex').toString('utf8'))
