import test from 'ava'
import type { Broadcaster } from '../ports/live-events.ts'
import { Invalid } from '../problem.ts'
import { broadcasterContract } from './broadcaster-contract.ts'

/** An in-process broadcaster. */
const inMemory = (): Broadcaster => {
  const listeners = new Set<{ readonly topic: string; readonly listener: (message: string) => void }>()
  return {
    async send(topic, message) {
      if (message.length > 4096) throw new Invalid('A broadcast must have at most 4096 bytes')
      for (const one of listeners) if (one.topic === topic) one.listener(message)
    },
    listen(topic, listener) {
      const one = { topic, listener }
      listeners.add(one)
      return () => listeners.delete(one)
    },
  }
}

broadcasterContract(test, async () => {
  const one = inMemory()
  return { one, other: one }
})
