import test from 'ava'
import { type EventType, eventTypes } from 'pounce/sdk'

type OfExamples = 'bookmark.set'

// The compiler names here what the list lacks.
const isComplete: Exclude<EventType, (typeof eventTypes)[number] | OfExamples> extends never ? true : false = true

test('every type of event is listed once', t => {
  t.true(isComplete)
  t.is(new Set(eventTypes).size, eventTypes.length)
})
