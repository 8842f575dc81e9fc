import { Invalid, routesFor, s, signedIn } from 'pounce/sdk'
import { Notes } from './notes.ts'

const route = routesFor('template', { notes: Notes })

export const addNote = route({
  method: 'POST',
  path: '/api/template/notes',
  summary: 'Add a note',
  permission: 'signedIn',
  body: s.Object({ text: s.String({ minLength: 1, maxLength: 1000 }) }),
  responses: { 200: s.Object({ id: s.id() }) },
  throws: [Invalid],
  async handle({ body, caller }, { notes }) {
    return { status: 200, body: { id: await notes.add(signedIn(caller).id, body.text) } }
  },
})

export const listNotes = route({
  method: 'GET',
  path: '/api/template/notes',
  summary: "List the caller's notes, oldest first",
  permission: 'signedIn',
  responses: { 200: s.Array(s.Object({ id: s.id(), text: s.String() })) },
  async handle({ caller }, { notes }) {
    return { status: 200, body: [...(await notes.of(signedIn(caller).id))] }
  },
})
