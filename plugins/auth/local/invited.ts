import { configPort, Installation, type SignUpWay, wire } from 'pounce/sdk'
import { config, type Settings } from './config.ts'
import { MailLinks } from './mail-links.ts'

/** Lets people who are invited sign up with the mail that invites them. */
export class InvitedSignUps implements SignUpWay {
  #settings: Settings
  #links: MailLinks
  #installation: Installation

  constructor(settings: Settings, links: MailLinks, installation: Installation) {
    this.#settings = settings
    this.#links = links
    this.#installation = installation
  }

  async linkFor(email: string, days: number): Promise<string | undefined> {
    const { signUp, signUpPage } = this.#settings
    return signUp ? `${this.#installation.baseUrl}${signUpPage}?token=${await this.#links.make(email, days)}` : undefined
  }
}
wire(InvitedSignUps, configPort(config), MailLinks, Installation)
