import { parentPort } from 'node:worker_threads'
import { Answerer } from './answerer.ts'
import type { Question } from './questions.ts'

const answerer = new Answerer()

parentPort?.on('message', (question: Question) => parentPort?.postMessage(answerer.answer(question)))
