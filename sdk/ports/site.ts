import type { UserRecord } from '../model/people.ts'
import type { Time } from '../model/records.ts'
import { type Contributions, contributions, port } from '../port.ts'

/** Site settings that server admins change at run time and everyone may see. */
export interface SiteSettings {
  /** One of the configured themes. */
  readonly theme: string
  /** The name of the installation, for titles and mail. */
  readonly displayName: string
  /** Shown on the front page. Entered by an admin and may contain HTML, which pages must sanitize. */
  readonly welcomeMessage: string
  readonly googleAnalytics: string
  readonly amplitudeApikey: string
  /** The local terms for sensors and parameters, plural and singular. */
  readonly sensors: string
  readonly sensor: string
  readonly parameters: string
  readonly parameter: string
  /** Terms of service; empty when there are none. */
  readonly tosText: string
  /** The terms are HTML, which pages must sanitize. */
  readonly tosHtml: boolean
  /** Date of the current terms; users who accepted earlier must accept again. Null if there have never been any. */
  readonly tosChanged: Time | null
}

/** Access to the site settings. */
export interface Site {
  /** Up to date within a second of a change on every kernel. */
  settings(): Promise<SiteSettings>
  /** `Invalid` for an unknown theme, listing the known ones. Changing the text of the terms sets `tosChanged`. */
  change(fields: Partial<Omit<SiteSettings, 'tosChanged'>>, actor: string | undefined): Promise<SiteSettings>
}
export const Site = port<Site>('site')

/**
 * The same port as a contribution, for plugins that work without it or that its implementation depends on: none or one. A separate port because dependencies
 * must not be circular: the settings need the accounts, which need the terms.
 */
export const Sites = contributions<Site>('site')

/** The name of the installation in mail, safe for a subject line. */
export const siteName = async (sites: Contributions<Site>): Promise<string> => {
  const settings = await sites.all()[0]?.settings()
  return (settings?.displayName ?? '').replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim() || 'Pounce'
}

/** True if the user has accepted the current terms, or there are none. */
export const acceptsTerms = ({ termsAccepted }: Pick<UserRecord, 'termsAccepted'>, { tosText, tosChanged }: SiteSettings): boolean =>
  tosText === '' || tosChanged === null || (termsAccepted !== null && termsAccepted >= tosChanged)
