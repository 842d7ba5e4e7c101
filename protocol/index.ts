export type { Envelope } from './envelope.ts';
export {
  AgentName,
  envelope,
  looseEnvelope,
  nameRule,
  PROTOCOL_VERSION,
  parseTarget,
  Role,
  TaskId,
} from './envelope.ts';
export { CloseCode, ErrorCode, mayReconnect } from './errors.ts';
export type { AssistantTurn, FinishReason, StopReason, ToolTurn } from './events.ts';
export {
  Cause,
  Flow,
  FlowNode,
  GateRun,
  LoopEvent,
  LoopState,
  Money,
  RunEvent,
  ToolCall,
  Turn,
  Usage,
  Verdict,
} from './events.ts';
export { isFrameType, isLoggedType, loggedTypes } from './frame-types.ts';
export type { Frame, FrameOf, FrameType } from './frames.ts';
export { frames, ResumePoint } from './frames.ts';
export {
  AgentRow,
  Artifact,
  Issue,
  MAX_INLINE_TEXT,
  TaskOptions,
  TaskPayload,
  TaskResultPayload,
  TaskRow,
  TaskState,
  TaskSubState,
} from './shapes.ts';
export type { BudgetLimits, BudgetLine, Spent, SpentLine } from './spending.ts';
export {
  addSpent,
  budgetLines,
  inCurrency,
  minusSpent,
  nothingSpent,
  plusSpent,
  shareOf,
  spentBy,
  tightest,
  uncounted,
} from './spending.ts';
