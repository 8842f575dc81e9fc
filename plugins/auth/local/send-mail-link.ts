import {
  type Contributions,
  configPort,
  Installation,
  KnownPages,
  Mailer,
  type MiddlewareClass,
  type MiddlewareContext,
  type SignUpWay,
  type Site,
  Sites,
  type Stored,
  type StoredEvent,
  type UserRecord,
  Users,
  wire,
} from 'pounce/sdk'
import { type LinkPage, type PageAddresses, pathOfPage, showsLinkPage, siteName } from 'pounce/sdk/kit'
import { config, resetPath, type Settings, signUpPath } from './config.ts'
import { type LinkRecord, MailLinks } from './mail-links.ts'

type User = UserRecord & Stored

type Link = LinkRecord & Stored

interface MailText {
  readonly subject: string
  readonly lines: readonly string[]
}

const signUpPage = (settings: Settings, pages: Contributions<PageAddresses>): string =>
  pathOfPage(pages, 'signUp', settings.signUpPage, signUpPath)

const notYou = 'If you did not request this, ignore this email.'

/** Sends a requested link. The request is stored first, so an outage of the mail server loses none. */
export class SendMailLink {
  #settings: Settings
  #links: MailLinks
  #users: Users
  #mailer: Mailer
  #sites: Contributions<Site>
  #pages: Contributions<PageAddresses>
  #installation: Installation

  constructor(
    settings: Settings,
    links: MailLinks,
    users: Users,
    mailer: Mailer,
    sites: Contributions<Site>,
    pages: Contributions<PageAddresses>,
    installation: Installation,
  ) {
    this.#settings = settings
    this.#links = links
    this.#users = users
    this.#mailer = mailer
    this.#sites = sites
    this.#pages = pages
    this.#installation = installation
  }

  async handle({ data }: StoredEvent<'account-link.requested'>): Promise<void> {
    const link = await this.#links.waiting(data.link)
    if (!link) return
    const letter = await this.#letterFor(link, await this.#users.byEmail(link.email))
    if (letter) {
      const subject = `[${await siteName(this.#sites)}] ${letter.subject}`
      await this.#mailer.send({ to: [link.email], subject, text: `${letter.lines.join('\n\n')}\n` })
    }
    await this.#links.sent(link)
  }

  /** Password reset requests for addresses without an account send no mail. */
  async #letterFor(link: Link, user: User | undefined): Promise<MailText | undefined> {
    if (!user) return link.asked === 'signUp' ? this.#signUp(link) : undefined
    if (user.provider !== 'userpass') return this.#elsewhere(user)
    return link.asked === 'signUp' ? this.#known(link, user) : this.#reset(link, user)
  }

  async #signUp(link: Link): Promise<MailText> {
    const address = this.#address(signUpPage(this.#settings, this.#pages), await this.#links.issue(link, 'signUp', undefined))
    return { subject: 'Finish your sign-up', lines: [`To create your account, go to:`, address, this.#lifetime(), notYou] }
  }

  async #reset(link: Link, user: User): Promise<MailText> {
    return { subject: 'Set another password', lines: ['To set another password, go to:', ...(await this.#resetLines(link, user)), notYou] }
  }

  async #known(link: Link, user: User): Promise<MailText> {
    const first = 'Someone tried to sign up with this address, but it already has an account.'
    const lines = [first, 'If you have forgotten its password, set another one here:', ...(await this.#resetLines(link, user)), notYou]
    return { subject: 'You have an account already', lines }
  }

  #elsewhere({ provider }: User): MailText {
    const first = `This address has an account that signs in with ${provider} and has no password here.`
    return { subject: 'You have an account already', lines: [first, `Sign in here: ${this.#installation.baseUrl}/`, notYou] }
  }

  async #resetLines(link: Link, user: User): Promise<readonly string[]> {
    const page = pathOfPage(this.#pages, 'reset', this.#settings.resetPage, resetPath)
    return [this.#address(page, await this.#links.issue(link, 'reset', user)), this.#lifetime()]
  }

  #address(page: string, token: string): string {
    return `${this.#installation.baseUrl}${page}?token=${token}`
  }

  #lifetime(): string {
    const { linkHours } = this.#settings
    return `The link works once, for ${linkHours === 1 ? 'one hour' : `${linkHours} hours`}.`
  }
}
wire(SendMailLink, configPort(config), MailLinks, Users, Mailer, Sites, KnownPages, Installation)

/** Lets invited users sign up with the link in the invitation. */
export class InvitedSignUps implements SignUpWay {
  #settings: Settings
  #links: MailLinks
  #pages: Contributions<PageAddresses>
  #installation: Installation

  constructor(settings: Settings, links: MailLinks, pages: Contributions<PageAddresses>, installation: Installation) {
    this.#settings = settings
    this.#links = links
    this.#pages = pages
    this.#installation = installation
  }

  async linkFor(email: string, days: number): Promise<string | undefined> {
    if (!this.#settings.signUp) return undefined
    const page = signUpPage(this.#settings, this.#pages)
    return `${this.#installation.baseUrl}${page}?token=${await this.#links.make(email, days)}`
  }
}
wire(InvitedSignUps, configPort(config), MailLinks, KnownPages, Installation)

const password =
  '<label>Password, at least 8 characters <input name="password" type="password" required minlength="8" maxlength="1000" autocomplete="new-password"></label>\n'

const forms: Readonly<Record<string, LinkPage>> = {
  [signUpPath]: {
    title: 'Create your account',
    text: 'For <b data-member="email"></b>.',
    fields: `<label>First name <input name="firstName" required maxlength="200" autocomplete="given-name"></label>
<label>Last name <input name="lastName" required maxlength="200" autocomplete="family-name"></label>
${password}`,
    button: 'Create account',
    done: 'Done. You can sign in once the account is active.',
  },
  [resetPath]: {
    title: 'Set another password',
    text: 'For <b data-member="email"></b>. You will be signed out everywhere else.',
    fields: password,
    button: 'Set password',
    done: 'Done. You can sign in now.',
  },
}

/** Responds with a form where an emailed link is opened in the browser of a user whose server has no web interface. */
export class LinkPages implements MiddlewareClass {
  async handle(context: MiddlewareContext, next: () => Promise<unknown>): Promise<void> {
    if (!showsLinkPage(context, forms)) await next()
  }
}
wire(LinkPages)
