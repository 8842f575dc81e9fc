import { type Contributions, contributions } from '../port.ts'

/** Targets of links in mails and printouts: paths below the base URL. A token is appended as `?token=`. */
export interface PageAddresses {
  /** The page that creates the first server admin. */
  readonly setUp?: string
  /** The page that completes a sign-up. */
  readonly signUp?: string
  /** The page that resets a password. */
  readonly reset?: string
  /** The page that links an identity of a provider to an account. */
  readonly link?: string
}
/** Plugins with pages for links that would otherwise lead to the API. */
export const KnownPages = contributions<PageAddresses>('pageAddresses')

/** The path of a page: the configured one, otherwise that of the first plugin with such a page, otherwise the API route. */
export const pathOfPage = (
  pages: Contributions<PageAddresses>,
  page: keyof PageAddresses,
  configured: string | undefined,
  otherwise: string,
): string =>
  configured ??
  pages
    .all()
    .map(each => each[page])
    .find(path => path !== undefined) ??
  otherwise
