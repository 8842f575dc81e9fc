import { type Contributions, contributions } from '../port.ts'

/** Where links that are sent by email or printed lead to: paths below the base URL. What they are about follows as `?token=`. */
export interface PageAddresses {
  /** The page that makes the first server admin. */
  readonly setUp?: string
  /** The page that finishes a sign-up. */
  readonly signUp?: string
  /** The page that sets another password. */
  readonly reset?: string
}
/** Plugins with pages for what otherwise leads to the API. */
export const KnownPages = contributions<PageAddresses>('pageAddresses')

/** The path of a page: the configured one, else that of the first plugin which has it, else the one of the API. */
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
