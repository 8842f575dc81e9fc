/** Functions that one side of a worker offers to the other. */
export type Handlers = Readonly<Record<string, (...args: never[]) => unknown>>

interface Port {
  postMessage(message: unknown, transfer: Transferable[]): void
  addEventListener(type: 'message', listener: (event: MessageEvent) => void): void
}

type Message =
  | { readonly call: string; readonly id: number; readonly args: readonly unknown[] }
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: string; readonly name: string }

/** Byte arrays are transferred, not copied. */
const transfers = (value: unknown): Transferable[] =>
  value instanceof Uint8Array && value.byteLength === value.buffer.byteLength ? [value.buffer as ArrayBuffer] : []

/** Calls functions on the other side of a worker, and answers its calls. Errors are passed on with their name and message. */
export const callsThrough = (port: Port, handlers: Handlers): (<T>(name: string, ...args: readonly unknown[]) => Promise<T>) => {
  const waiting = new Map<number, { readonly resolve: (value: unknown) => void; readonly reject: (error: Error) => void }>()
  let lastId = 0
  const answer = async (name: string, id: number, args: readonly unknown[]): Promise<void> => {
    try {
      const result = await handlers[name]?.(...(args as never[]))
      port.postMessage({ id, result }, transfers(result))
    } catch (error) {
      const { message, name: kind } = error instanceof Error ? error : { message: String(error), name: 'Error' }
      port.postMessage({ id, error: message, name: kind }, [])
    }
  }
  port.addEventListener('message', ({ data }: MessageEvent<Message>) => {
    if ('call' in data) {
      void answer(data.call, data.id, data.args)
      return
    }
    const call = waiting.get(data.id)
    waiting.delete(data.id)
    if ('error' in data) call?.reject(Object.assign(new Error(data.error), { name: data.name }))
    else call?.resolve(data.result)
  })
  return <T>(name: string, ...args: readonly unknown[]) =>
    new Promise<unknown>((resolve, reject) => {
      lastId++
      waiting.set(lastId, { resolve, reject })
      port.postMessage({ call: name, id: lastId, args }, [])
    }) as Promise<T>
}
