import { matrixTests } from './asking.ts'

matrixTests('private', 0, 2)
