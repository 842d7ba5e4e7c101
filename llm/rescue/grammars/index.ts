import { callBegin } from './call-begin.ts';
import { functionTag, seed } from './function-tag.ts';
import { functionary } from './functionary.ts';
import { functools } from './functools.ts';
import type { Grammar } from './grammar.ts';
import { harmony } from './harmony.ts';
import { invokeTags, invokeWrappers } from './invoke.ts';
import { jsonTokens } from './json-tokens.ts';
import { mistral } from './mistral.ts';
import { pythonTag } from './python-tag.ts';
import { pythonic } from './pythonic.ts';
import { toolCallTag } from './tool-call-tag.ts';
import { toolCallsTag } from './tool-calls-tag.ts';

/** Every way of writing a call that has a marker; `bare.ts` is the one that has none. Another format is another entry. */
export const grammars: readonly Grammar[] = [
  ...[toolCallTag, toolCallsTag, functionTag, seed, ...invokeWrappers, ...invokeTags],
  ...[callBegin, mistral, harmony, ...jsonTokens, functools, functionary, pythonTag, ...pythonic],
];

/** Those that matter when no tools were offered: they tell thinking from text. */
export const headers: readonly Grammar[] = [harmony];
