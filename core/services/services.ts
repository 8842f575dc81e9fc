import { randomBytes } from 'node:crypto'
import { type Clock, Clock as ClockPort, type Ids, Ids as IdsPort, Installation, Mailer, Metrics } from 'pounce/sdk'
import { checkMail, type Mail, PluginSwitch } from 'pounce/sdk/kit'
import type { Config } from '../kernel/config.ts'
import { InstallationInfo } from './installation.ts'
import type { KernelLog } from './log.ts'
import { createMetrics, type KernelMetrics } from './metrics.ts'

/** What plugins find besides each other and their own config and log. */
export interface Services {
  readonly values: ReadonlyMap<string, unknown>
  /** Of the ports in `values`, those that a plugin may provide instead. */
  readonly replaceable: ReadonlySet<string>
  readonly clock: Clock
  readonly ids: Ids
  readonly metrics: KernelMetrics
  /** Its name, its address and whether a plugin runs come in later. */
  readonly installation: InstallationInfo
}

/** The machine's clock. */
export const systemClock: Clock = { now: () => new Date() }

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0')

/** ObjectIds: 4 bytes of seconds, 5 random bytes of this kernel, a counter of 3 bytes. Increasing also when the clock steps back. */
export class ObjectIds implements Ids {
  readonly #clock: Clock
  readonly #kernel = randomBytes(5).toString('hex')
  #second: number
  #counter: number

  /** `first`: where the counter of the first second begins. */
  constructor(clock: Clock, first = 0) {
    this.#clock = clock
    this.#counter = first
    this.#second = Math.floor(clock.now().getTime() / 1000)
  }

  next(): string {
    const now = Math.floor(this.#clock.now().getTime() / 1000)
    if (now > this.#second) {
      this.#second = now
      this.#counter = 0
    } else if (this.#counter > 0xff_ff_ff) {
      this.#second += 1
      this.#counter = 0
    }
    const id = hex(this.#second, 8) + this.#kernel + hex(this.#counter, 6)
    this.#counter += 1
    return id
  }
}

/** Where no plugin sends mail: a log line with the whole mail, links to sign up included, for the operator to forward. */
export class LogMailer implements Mailer {
  readonly #log: Pick<KernelLog, 'warnOpenly'>

  constructor(log: Pick<KernelLog, 'warnOpenly'>) {
    this.#log = log
  }

  async send(mail: Mail): Promise<void> {
    checkMail(mail)
    this.#log.warnOpenly('Mail was not sent: no plugin provides mailer', { to: mail.to, subject: mail.subject, text: mail.text })
  }
}

/** Makes what the kernel hands to plugins. `overrides` are put in their place, and in the place of what plugins provide: for tests. */
export const createServices = async (
  config: Config,
  log: KernelLog,
  switches: PluginSwitch,
  overrides: Readonly<Record<string, unknown>>,
): Promise<Services> => {
  const clock = (overrides[ClockPort] as Clock | undefined) ?? systemClock
  const ids = (overrides[IdsPort] as Ids | undefined) ?? new ObjectIds(clock)
  const metrics = await createMetrics(config.kernel.metrics.enabled, log.with({ plugin: 'metrics' }))
  const installation = new InstallationInfo(config.kernel, config.plugins)
  const values = new Map<string, unknown>([
    [ClockPort, clock],
    [IdsPort, ids],
    [Metrics, metrics],
    [Installation, installation],
    [PluginSwitch, switches],
    [Mailer, new LogMailer(log.with({ plugin: 'mailer' }))],
    ...Object.entries(overrides),
  ])
  return { values, replaceable: new Set([Mailer]), clock, ids, metrics, installation }
}
