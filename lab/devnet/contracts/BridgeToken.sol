// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// The native bridge's token on one chain, 8 decimals like MOVE. DEVNET: the deployer mints at will.
contract BridgeToken is ERC20 {
    address private immutable owner = msg.sender;

    constructor() ERC20("Devnet bridge token", "DBT") {}

    function decimals() public pure override returns (uint8) {
        return 8;
    }

    function mint(address to, uint256 amount) external {
        require(msg.sender == owner, "only the deployer mints");
        _mint(to, amount);
    }
}
