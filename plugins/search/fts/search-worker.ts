import { parentPort } from 'node:worker_threads'
import { QueryExecutor } from './query-executor.ts'
import type { Question } from './questions.ts'

const answerer = new QueryExecutor()

parentPort?.on('message', (question: Question) => parentPort?.postMessage(answerer.answer(question)))
parentPort?.postMessage('ready')
