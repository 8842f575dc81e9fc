import test from 'ava'
import { matrixTests } from './asking.ts'

matrixTests(test, 'public', 1, 2)
