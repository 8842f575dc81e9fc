import test from 'ava'
import { matrixTests } from './matrix-tests.ts'

matrixTests(test, 'public', 0, 2)
