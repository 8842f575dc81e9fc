import type { UserRecord } from '../model/people.ts'
import type { Time } from '../model/records.ts'
import { type Contributions, contributions, port } from '../port.ts'

/** What server admins set while the installation runs, for everyone to see. */
export interface SiteSettings {
  /** One of the themes that the configuration lists. */
  readonly theme: string
  /** The name of the installation, for titles and mails. */
  readonly displayName: string
  /** Shown on the front page. Text of an admin: it may hold HTML, which a page must clean. */
  readonly welcomeMessage: string
  readonly googleAnalytics: string
  readonly amplitudeApikey: string
  /** What sensors and parameters are called here, of many and of one. */
  readonly sensors: string
  readonly sensor: string
  readonly parameters: string
  readonly parameter: string
  /** Terms of service; empty when there are none. */
  readonly tosText: string
  /** The terms are HTML, which a page must clean. */
  readonly tosHtml: boolean
  /** Since when the terms hold: who accepted before has to accept again. Null when there never were any. */
  readonly tosChanged: Time | null
}

/** The settings of the site. */
export interface Site {
  /** Current within a second after a change, on every kernel. */
  settings(): Promise<SiteSettings>
  /** `Invalid` for an unknown theme, with the names of those that are known. Another text of the terms makes them new. */
  change(fields: Partial<Omit<SiteSettings, 'tosChanged'>>, actor: string | undefined): Promise<SiteSettings>
}
export const Site = port<Site>('site')

/**
 * The same for anyone who runs without them too, or below the plugin that provides them: none or one. A port of its own, because needs go one way
 * and accounts, which the settings need, require the terms.
 */
export const Sites = contributions<Site>('site')

/** What mails call the installation, in a subject and safe for one. */
export const siteName = async (sites: Contributions<Site>): Promise<string> => {
  const settings = await sites.all()[0]?.settings()
  return (settings?.displayName ?? '').replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim() || 'Pounce'
}

/** True of someone who has accepted the terms as they are; always when there are none. */
export const acceptsTerms = ({ termsAccepted }: Pick<UserRecord, 'termsAccepted'>, { tosText, tosChanged }: SiteSettings): boolean =>
  tosText === '' || tosChanged === null || (termsAccepted !== null && termsAccepted >= tosChanged)
