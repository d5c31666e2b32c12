// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {NativeBridge} from "./NativeBridge.sol";

/// The native bridge with two defects of the deployed contract, for tests of relayers.
contract StrictNativeBridge is NativeBridge {
    /// Defect: the condition is inverted, so the function always reverts.
    function togglePause() external onlyRole(DEFAULT_ADMIN_ROLE) {
        if (paused()) _pause();
        else _unpause();
        emit PauseToggled(paused());
    }

    /// Defect: the function is public, so anyone can spend the day's budget.
    function _rateLimitInbound(uint256 amount) public {
        _spendInboundBudget(amount);
    }
}
