import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'

/** A TCP load balancer in front of several kernels, some of which may be down. */
export interface Balancer {
  readonly url: string
  /** Sets the ports that connections are forwarded to, round-robin. */
  serve(ports: readonly number[]): void
  close(): Promise<void>
}

/** Forwards each connection to the next kernel; while none is up, connections are closed immediately. */
export const balancer = async (): Promise<Balancer> => {
  let ports: readonly number[] = []
  let turn = 0
  const server = createServer({ noDelay: true }, near => {
    turn += 1
    const port = ports[turn % Math.max(ports.length, 1)]
    if (port === undefined) return void near.destroy()
    const far = connect({ port, host: '127.0.0.1', noDelay: true })
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.pipe(other)
      // an error is always followed by `close`
      one.on('error', () => undefined)
      one.on('close', () => other.destroy())
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    serve: up => {
      ports = up
    },
    close: async () => {
      server.close()
      await once(server, 'close')
    },
  }
}
