import test from 'ava'
import { type EventType, eventTypes } from 'pounce/sdk'
import type { PluginKinds } from 'pounce/sdk/kit'

type OfPlugins = 'bookmark.set' | `${keyof PluginKinds}.${string}`

// The compiler reports types missing from the list here; examples add event types and kinds.
const isComplete: Exclude<EventType, (typeof eventTypes)[number] | OfPlugins> extends never ? true : false = true

test('every type of event is listed once', t => {
  t.true(isComplete)
  t.is(new Set(eventTypes).size, eventTypes.length)
})
