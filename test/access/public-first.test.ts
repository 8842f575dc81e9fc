import { matrixTests } from './asking.ts'

matrixTests('public', 0, 2)
