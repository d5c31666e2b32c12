// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// A dollar of one chain, 6 decimals. DEVNET: the deployer and the minter mint at will.
contract CctpToken is ERC20 {
    address private immutable owner = msg.sender;
    address private immutable minter;

    constructor(address minter_) ERC20("Devnet dollar", "USDC") {
        minter = minter_;
    }

    function decimals() public pure override returns (uint8) {
        return 6;
    }

    function mint(address to, uint256 amount) external returns (bool) {
        require(msg.sender == owner || msg.sender == minter, "FiatToken: caller is not a minter");
        _mint(to, amount);
        return true;
    }

    function burn(uint256 amount) external {
        _burn(msg.sender, amount);
    }
}

/// Replaces Circle's TokenMinter and TokenMinterV2. The messengers of both versions use this contract.
contract CctpMinter {
    address private immutable owner = msg.sender;

    mapping(address messenger => bool) private isMessenger;
    mapping(uint32 domain => mapping(bytes32 remoteToken => address)) private localTokens;

    modifier onlyMessenger() {
        require(isMessenger[msg.sender], "Caller not local TokenMessenger");
        _;
    }

    function addLocalTokenMessenger(address messenger) external {
        require(msg.sender == owner, "only the deployer");
        isMessenger[messenger] = true;
    }

    function linkTokenPair(address localToken, uint32 remoteDomain, bytes32 remoteToken) external {
        require(msg.sender == owner, "only the deployer");
        localTokens[remoteDomain][remoteToken] = localToken;
    }

    function burn(address token, uint256 amount) external onlyMessenger {
        CctpToken(token).burn(amount);
    }

    function mint(uint32 domain, bytes32 remoteToken, address to, uint256 amount) external onlyMessenger returns (address) {
        return _mint(domain, remoteToken, to, amount);
    }

    function mint(uint32 domain, bytes32 remoteToken, address to, address feeTo, uint256 amount, uint256 fee)
        external
        onlyMessenger
        returns (address)
    {
        _mint(domain, remoteToken, feeTo, fee);
        return _mint(domain, remoteToken, to, amount);
    }

    function _mint(uint32 domain, bytes32 remoteToken, address to, uint256 amount) private returns (address token) {
        token = localTokens[domain][remoteToken];
        require(token != address(0), "Mint token not supported");
        require(CctpToken(token).mint(to, amount), "Mint operation failed");
    }
}

/// The library that Circle's v1 contracts link.
library CctpMessageLibrary {
    function addressToBytes32(address account) external pure returns (bytes32) {
        return bytes32(uint256(uint160(account)));
    }

    function bytes32ToAddress(bytes32 word) external pure returns (address) {
        return address(uint160(uint256(word)));
    }
}
