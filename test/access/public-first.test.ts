import test from 'ava'
import { matrixTests } from './asking.ts'

matrixTests(test, 'public', 0, 2)
