import { once } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import test from 'ava'
import { multipart, type Route, routesFor, s } from 'pounce/sdk'
import { recordingLog } from '../../test/support/recording-log.ts'
import { rawClient } from './testing/raw-client.ts'
import { serve } from './testing/serve.ts'

const route = routesFor('things', {})

/** Ways in which a client ends a connection during its request body. */
const ends = { 'closes its side': 'end', closes: 'destroy', resets: 'resetAndDestroy' } as const

for (const [how, end] of Object.entries(ends))
  test(`a disconnect is not logged as an error, although the handler fails: a client that ${how}`, async t => {
    const { log, lines } = recordingLog()
    const begun = Promise.withResolvers<void>()
    const routes: Record<string, Route> = {
      upload: route({
        method: 'POST',
        path: '/upload',
        summary: 'x',
        permission: 'anyone',
        body: multipart('nothing'),
        responses: { 200: s.text() },
        async handle({ signal }) {
          begun.resolve()
          await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
          return { status: 200, body: 'done' }
        },
      }),
    }
    const { port } = await serve(t, routes, { options: { log } })
    const client = await rawClient(port)
    client.send(
      'POST /upload HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 2000000\r\n\r\n--b\r\n',
    )
    await begun.promise
    client.socket[end]()
    if (!client.socket.closed) await once(client.socket, 'close')
    const logged = () => lines.find(({ message }) => message === 'Client disconnected' || message === 'Request failed')
    while (logged() === undefined) await turn()
    t.is(logged()?.['message'], 'Client disconnected', JSON.stringify(logged()))
    const ended = () => lines.find(({ message }) => message === 'Request')
    while (ended() === undefined) await turn()
    t.like(ended(), { status: 499, isComplete: false })
    t.deepEqual(
      lines.filter(({ level }) => level === 'error' || level === 'warn'),
      [],
    )
  })
