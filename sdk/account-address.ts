/** Longer addresses are not examined. */
const maxLength = 2000
/** Percent signs may themselves be encoded. */
const maxDecodings = 3

/** The accounts that an address may refer to, in any spelling. */
export interface NamedAccounts {
  /** Ids found anywhere in the address: hosts, paths, queries and fragments have too many spellings to tell which of them lead to an account. */
  readonly ids: readonly string[]
  /** The email address in `…/users/email/ann@example.org`. */
  readonly email: string | undefined
}

/**
 * Returns what to look up before an address is treated as unrelated to any account. Addresses of people are never compared as strings: `/api/x/../users/ID`,
 * `/api//users/%35…` and `/API/USERS/ID/` all refer to the same account.
 */
export const accountsNamedBy = (address: string): NamedAccounts => {
  const plain = address.length > maxLength ? '' : plainAddress(address)
  const ids = plain.match(/[0-9a-f]{24,}/g)?.filter(each => each.length === 24) ?? []
  const parts = plain.split(/[/?#]+/)
  const email = parts[parts.indexOf('email') + 1]
  return { ids: [...new Set(ids)], email: parts.includes('users') && email?.includes('@') ? email : undefined }
}

/** The address as normalized by the URL parser, decoded, in Unicode NFC and lower case. */
const plainAddress = (address: string): string => {
  let text = URL.parse(address)?.href ?? address
  for (let times = 0; times < maxDecodings; times++) text = decoded(text)
  return text.normalize('NFKC').toLowerCase().replaceAll('\\', '/')
}

const decoded = (text: string): string =>
  text.replace(/(?:%[0-9a-f]{2})+/gi, found => Buffer.from(found.replaceAll('%', ''), 'hex').toString('utf8'))
