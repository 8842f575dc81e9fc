import { once } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { type Command, Commands, Conflict, definePlugin, Greetings, provide, routesFor, s } from 'pounce/sdk'

class Say implements Command {
  readonly name = 'greeting say'
  readonly summary = 'Say hello'
  readonly arguments = [{ name: 'who', summary: 'To whom' }]
  readonly options = [
    { name: 'very-loud', summary: 'In capitals', takesValue: false },
    { name: 'times', summary: 'How often', takesValue: true },
  ]

  async run({ arguments: { who = '' }, options }: Parameters<Command['run']>[0], progress: (message: string) => void) {
    if (who === 'nobody') throw new Conflict('Nobody is there')
    if (who === 'bug') throw new TypeError('a bug')
    const times = Number(options['times'] ?? 1)
    return Array.from({ length: times }, (_, at) => {
      progress(`${at + 1} of ${times}`)
      return { at, text: options['very-loud'] ? who.toUpperCase() : who }
    })
  }
}

class Doctor implements Command {
  readonly name = 'doctor'
  readonly summary = 'Looks after greetings'
  readonly options = [{ name: 'ill', summary: 'Finds something', takesValue: false }]

  async run({ options }: Parameters<Command['run']>[0]) {
    return [{ check: 'greetings', ok: options['ill'] !== true }]
  }
}

class Hint {
  async lines() {
    return ['Sign in with the hint of the plugin']
  }
}

const route = routesFor('faults', {})

const routes = {
  slow: route({
    method: 'GET',
    path: '/api/slow',
    summary: 'Answers some time after the process was asked to stop',
    permission: 'anyone',
    responses: { 200: s.Object({ waited: s.Boolean() }) },
    async handle({ log }) {
      log.info('the slow request has begun')
      await once(process, 'SIGTERM')
      for (let turns = 0; turns < 1000; turns++) await turn()
      return { status: 200, body: { waited: true } }
    },
  }),
  endless: route({
    method: 'GET',
    path: '/api/endless',
    summary: 'Never answers',
    permission: 'anyone',
    responses: { 200: s.Object({ waited: s.Boolean() }) },
    async handle({ log }) {
      log.info('the endless request has begun')
      return new Promise(() => undefined)
    },
  }),
  fault: route({
    method: 'POST',
    path: '/api/faults',
    summary: 'Throws where nobody catches',
    permission: 'anyone',
    responses: { 200: s.success() },
    async handle() {
      setImmediate(() => {
        throw new Error('thrown in a timer')
      })
      void Promise.reject(new Error('rejected by nobody'))
      await turn()
      return { status: 200, body: { status: 'success' } }
    },
  }),
}

/** Commands, a greeting and faults, for tests of the command line. */
export const plugin = definePlugin({
  id: 'test.commands',
  summary: 'Commands for tests.',
  config: s.Object({ pin: s.String({ default: '1234', secret: true }) }),
  provides: [provide(Commands, Say), provide(Commands, Doctor), provide(Greetings, Hint)],
  routes,
})
