export { memoryStore as plugin } from '../memory-documents.ts'
