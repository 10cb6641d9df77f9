import { walkKills } from './kill-walk.js';

walkKills('boruta');
